/** The part of the address behind `#`: the screen and what it shows, such as `#line?place=home&down=20mbit`. */

import { useEffect, useState } from "preact/hooks";

export interface Address {
  screen: string;
  parameters: URLSearchParams;
}

/** Returns the present address; the screen is empty where nothing is behind `#`. */
function current(): Address {
  const [screen = "", query = ""] = location.hash.slice(1).split("?");
  return { screen, parameters: new URLSearchParams(query) };
}

/** Returns the address, anew whenever its user changes it; keepInAddress() makes no such change. */
export function useAddress(): Address {
  const [address, setAddress] = useState(current);
  useEffect(() => {
    const renew = () => setAddress(current());
    addEventListener("hashchange", renew);
    return () => removeEventListener("hashchange", renew);
  }, []);
  return address;
}

/** Puts what a screen shows into the address, without another entry of the history and without a `hashchange`. */
export function keepInAddress(screen: string, parameters: URLSearchParams): void {
  history.replaceState(null, "", `#${screen}?${parameters.toString().replaceAll("%3A", ":").replaceAll("%2C", ",")}`);
}

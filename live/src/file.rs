//! Files that others read: each is there whole, the former one or the new one.

use std::io::Write as _;
use std::path::Path;
use std::{fs, io};

/// Writes a file at once for whoever reads it.
///
/// # Errors
/// What the system says, or that the path names no file; the former file stays.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
    // Hidden, so that who reads all files of a kind never takes one that is not finished.
    let unfinished = path.with_file_name(format!(".{}.{}", name.to_string_lossy(), std::process::id()));
    let done = fs::File::create(&unfinished)
        .and_then(|mut file| file.write_all(text.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&unfinished, path));
    if done.is_err() {
        let _ = fs::remove_file(&unfinished); // it may not have been made
    }
    done
}

#[cfg(test)]
#[allow(non_snake_case)]
mod tests {
    use super::*;

    #[test]
    fn replace__leaves_the_former_file_where_it_fails() {
        let folder = std::env::temp_dir().join(format!("mousehole-file-{}", std::process::id()));
        fs::create_dir_all(folder.join("there/inner")).unwrap();
        assert!(replace(&folder.join("there"), "new").is_err());
        assert!(folder.join("there/inner").is_dir());
        assert!(replace(Path::new("/"), "new").is_err());
        replace(&folder.join("file"), "one").unwrap();
        replace(&folder.join("file"), "two").unwrap();
        assert_eq!(fs::read_to_string(folder.join("file")).unwrap(), "two");
        let left: Vec<_> = fs::read_dir(&folder).unwrap().flatten().map(|one| one.file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
        fs::remove_dir_all(&folder).unwrap();
    }
}

/** Values of the setting `upload-command` to copy. A test runs each with a stand-in for the program that it needs. */

/** A name that nobody can guess and that needs no escaping in a URL; it keeps the extension of the file. */
const newName = 'n=$(openssl rand -hex 16).$(basename "$1" | sed "s/.*[.]//")';

export const uploadRecipes = [
  {
    program: 'rclone',
    command: `${newName} && rclone copyto "$1" "remote:bucket/$n" && rclone link "remote:bucket/$n"`,
  },
  {
    program: 'aws',
    command: `${newName} && aws s3 cp --only-show-errors "$1" "s3://bucket/$n" && aws s3 presign --expires-in 604800 "s3://bucket/$n"`,
  },
  {
    program: 'gsutil',
    command: `${newName} && gsutil -q cp "$1" "gs://bucket/$n" && echo "https://storage.googleapis.com/bucket/$n"`,
  },
  {
    program: 'scp',
    command: `${newName} && scp -q "$1" "host.example:/var/www/audio/$n" && echo "https://host.example/audio/$n"`,
  },
];

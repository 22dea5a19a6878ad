/** Upload commands that can be copied. Each is run by a test, with a stand-in for the program that it needs. */
import { type StenoError, usage } from '../../lib/errors.ts';
import { shellWord } from '../../lib/shell-word.ts';

export interface UploadRecipe {
  readonly program: string;
  readonly command: string;
}

/** A name that no one can guess and that needs no escaping in a URL; it keeps what the file's own name ends in. */
const newName = 'n=$(openssl rand -hex 16).$(basename "$1" | sed "s/.*[.]//")';

export const uploadRecipes: readonly UploadRecipe[] = [
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

const exampleOf = (program: string): string => {
  const recipe = uploadRecipes.find((each) => each.program === program);
  return `steno config set upload-command ${shellWord(recipe?.command ?? '')}`;
};

/** A file was to be ordered, and nothing says how it gets a URL. */
export const noUploadCommand = (path: string): StenoError =>
  usage(
    `${path} is on this machine, where the service can't reach it: set upload-command to a command that uploads it`,
    `for example: ${exampleOf('scp')}   or: ${exampleOf('rclone')}`,
  );

/** How the names of audio and video end: the service takes both. */
export const audioExtensions: readonly string[] = (
  'mp3 m4a m4b aac wav flac ogg oga opus wma aif aiff amr caf mka ' +
  'mp4 m4v mov mkv webm avi mpg mpeg wmv 3gp'
).split(' ');

/** A path as a shell takes it after `cd`: nothing in the name of a folder is run by whoever copies the line. */
export function shellWord(path: string, platform: string = process.platform): string {
  if (/^[\w./\\:@%+][\w./\\:@%+~-]*$/.test(path)) return path
  return platform === 'win32' ? `"${path}"` : `-- '${path.replaceAll("'", String.raw`'\''`)}'`
}

/**
 * Returns the reason why a new name of a file or folder is refused; `undefined` if it is allowed. Some systems take such a name for another one, so
 * its second spelling would bypass a rule on the path. Pure.
 */
export function wrongInName(name: string, platform: string = process.platform): string | undefined {
  if (name.includes('\\')) return 'a name with "\\" is not created; write "/" between folders'
  if (/^[A-Za-z]:/.test(name)) return 'it names a drive; use a path relative to the workspace'
  if (/:\$|::/.test(name))
    return `the name ${JSON.stringify(name)} is that of a stream of a file; leave out what follows ":"`
  if (/[. ]$/.test(name))
    return `the name ${JSON.stringify(name)} ends in a dot or a space, which some systems leave out`
  if (platform !== 'win32') return undefined
  // oxlint-disable-next-line no-control-regex -- the system refuses them
  if (/[<>:"|?*\u0000-\u001F]/.test(name))
    return `the name ${JSON.stringify(name)} holds a character that Windows does not take`
  return /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(name)
    ? `the name ${JSON.stringify(name)} is that of a device`
    : undefined
}

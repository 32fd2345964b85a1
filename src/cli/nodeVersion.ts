/** As `engines` of package.json has it. */
const least = [22, 18] as const

/** What is wrong with a version of Node; `undefined`: nothing. */
export function wrongNode(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > least[0] || (major === least[0] && minor >= least[1])) return undefined
  return `Node ${least.join('.')} or newer is needed; this is ${version}. See https://nodejs.org.`
}

const remotes =
  /^(?:git\+)?(?:(?:https?|ssh|git):\/\/(?:[^@/]+@)?|[^@/:]+@)([\w-]+(?:\.[\w-]+)+)(?::\d+)?[/:]([\w.~-]+(?:\/[\w.~-]+)+?)\/?$/

/** The address of a repository for people, of a remote of git; without a name or a password. `undefined` for a place that only this machine knows. Pure. */
export function addressOf(remote: string): string | undefined {
  const [, host, path] = remotes.exec(remote.trim()) ?? []
  return host === undefined ? undefined : `https://${host}/${path!.replace(/\.git$/, '')}`
}

/**
 * A package.json with where its sources are, what its page is and where mistakes are told, after its licence. Fields that are there stay.
 * `directory`: where the package is in the repository. Pure.
 */
export function withRepository(text: string, address: string, directory?: string): string {
  const there = JSON.parse(text) as Readonly<Record<string, unknown>>
  const repository = { type: 'git', url: `git+${address}.git`, ...(directory === undefined ? {} : { directory }) }
  const page = directory === undefined ? `${address}#readme` : `${address}/tree/HEAD/${directory}#readme`
  const fields = { homepage: page, bugs: { url: `${address}/issues` }, repository }
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    name in there ? [] : [`  "${name}": ${JSON.stringify(value, undefined, 2).replaceAll('\n', '\n  ')},\n`],
  )
  return text.replace(/^ *"license": .*,\n/m, (line) => line + lines.join(''))
}

import { writeSync } from 'node:fs'

/** Said after each module that is through, on a line of its own. */
export const mark = (file: string, said = ''): string => `\u0001${file}\u0002${said}\u0003`

if (import.meta.main) {
  // One process for all, as most of its time would be loading the sources.
  for (const file of process.argv.slice(2)) {
    const said = await import(file).then(
      () => '',
      (thrown: unknown) => (thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)) || 'nothing',
    )
    writeSync(1, mark(file, said))
  }
  // What a page leaves running, such as a server, would hold it.
  process.exit()
}

/** Records the cassettes anew, after a change of what models are sent: `node packages/evaluation/test/suites/cassettes/record.ts`. */
import { rm } from 'node:fs/promises'
import { evaluated, suiteNames, suiteOf } from '../suiteRuns.ts'
import { cassettes, packCassette } from './cassette.ts'

const { signal } = new AbortController()
for (const name of suiteNames) {
  const { task, arms } = cassettes[name]
  const cleanup = (): void => {}
  const { folder } = await evaluated({ cleanup, signal }, await suiteOf(name), {
    arms,
    trials: 1,
    tasks: [task],
    record: true,
  })
  await packCassette(name, folder)
  await rm(folder, { recursive: true, force: true })
}

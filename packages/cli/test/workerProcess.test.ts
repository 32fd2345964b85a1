import { WorkerProcess } from '../src/cluster/workerProcess.ts'
import { systemClock } from '../../../src/protocol/ports/clock.ts'
import { assert, describe } from '../../../test/support/suite.ts'

describe('a worker of a cluster', (it) => {
  it(
    'may print what it likes before and after it says where it is reached',
    { timeoutMs: 20_000 },
    async ({ cleanup }) => {
      const lines = [
        '[dotenv] 3 variables',
        '{"url": 1}',
        'null',
        '{"url":"http://w","bridge":"ws://w"}',
        '{"url":"x","bridge":"y"}',
        'bye',
      ]
      const program = `for (const line of ${JSON.stringify(lines)}) console.log(line)
      process.on('disconnect', () => process.exit())`
      const said: string[] = []
      const up: unknown[] = []
      const last = Promise.withResolvers<void>()
      const worker = new WorkerProcess(
        { args: ['--eval', program], cwd: process.cwd(), env: process.env, clock: systemClock },
        {
          up: (addresses) => up.push(addresses),
          gone: () => {},
          killed: () => {},
          said: (line) => {
            said.push(line)
            if (line === 'bye') last.resolve()
          },
        },
      )
      cleanup(() => worker.end())
      await worker.up
      await last.promise
      assert.equal(up, [{ url: 'http://w', bridge: 'ws://w' }])
      assert.equal(said, lines.toSpliced(3, 1))
    },
  )
})

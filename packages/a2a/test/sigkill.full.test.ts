import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textOf } from '../../../src/protocol/messages.ts'
import { ends } from '../../../test/support/lives.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { callerOf } from '../../acp/test/client/callerHarness.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { cliCommand, projectFolder, startChild } from '../../cli/test/cliChild.ts'
import { a2aAgent } from '../src/client/a2aAgent.ts'

const script = join(import.meta.dirname, 'serverChild.ts')

describe('a server of A2A that is killed in the middle of a task', (it) => {
  it(
    'goes on with it in its next life, and what is done once is done once',
    { timeoutMs: 300_000 },
    async (context) => {
      for (let records = 2; records <= 12; records += 2) {
        const folder = projectFolder(context)
        const start = (port: string, most: number) =>
          startChild(context, cliCommand([folder, port, `${most}`], script), { cwd: folder })
        const first = start('0', records)
        await first.until('port ')
        while (!first.stdout.includes('\n')) await new Promise((resolve) => setTimeout(resolve, 5))
        const port = /port (\d+)/.exec(first.stdout)![1]!
        const second = first.ended.then(() => start(port, 0))
        const clerk = a2aAgent(`http://127.0.0.1:${port}/a2a/clerk`, {
          name: 'clerk',
          maxRestarts: 100,
          backoffMs: 1,
          windowMs: 20,
        })
        const runtime = await createRuntime()
        const agent = await runtime.spawn(callerOf(clerk, 'pay the bill'))
        agent.subscribe((event) => {
          if (event.type === 'state.changed' && event.state === 'paused')
            setImmediate(() => agent.pending().forEach(({ key }) => agent.decide(key, { value: true })))
        })
        const over = ends(agent)
        agent.prompt('go')
        await over
        const said = textOf(agent.conversation.trunk().at(-1)!.message.content)
        assert.match(said, /^Done: /, `after ${records} records`)
        const paid = existsSync(join(folder, 'paid'))
          ? readFileSync(join(folder, 'paid'), 'utf8').trim().split('\n')
          : []
        assert.ok(
          paid.length <= 1 && (paid.length === 1 || /not known|interrupted/i.test(said)),
          `${records}: ${paid.join()} ${said}`,
        )
        await runtime.close()
        ;(await second).signal('SIGKILL')
      }
    },
  )
})

import { join } from 'node:path'
import { createMachine } from 'xstate'
import { fileStore } from '../../stores/src/fileStore.ts'
import { assert, describe, type CaseContext } from '../../../test/support/suite.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { defineHost } from '../../xstate/src/hosts/defineHost.ts'
import { hostMachine } from '../../xstate/src/hosts/hostMachine.ts'
import { projectFolder } from './cliChild.ts'
import { runCli } from './cliInProcess.ts'
import { atTerminal, plain, startAtTerminal } from './cliTerminal.ts'

const order = defineHost({
  name: 'order',
  machine: createMachine({
    id: 'order',
    initial: 'open',
    states: {
      open: { on: { pay: 'paid', close: 'closed' }, after: { 86_400_000: 'late' } },
      late: {},
      paid: { initial: 'packing', states: { packing: {} } },
      closed: { type: 'final' },
    },
  }),
})

/** A folder with the logs of three orders: one waits, one is paid, one is done. */
async function recordOrders(context: CaseContext): Promise<string> {
  const cwd = projectFolder(context)
  const runtime = await createRuntime({ store: fileStore(join(cwd, '.escapement')) })
  const [, paid, closed] = await Promise.all(
    ['waits', 'paid', 'closed'].map((id) => hostMachine(runtime, order, { id })),
  )
  await paid!.send({ type: 'pay' })
  await closed!.send({ type: 'close' })
  await closed!.done
  await runtime.close()
  return cwd
}

describe('machines that are kept, among the sessions', (it) => {
  it('have their state and what they wait for', { timeoutMs: 30_000 }, async (context) => {
    const cwd = await recordOrders(context)
    const { stdout } = await runCli(context, ['sessions', '--dir', cwd])
    const machines = new Map(
      stdout
        .split('\n')
        .filter(Boolean)
        .map(
          (line) =>
            JSON.parse(line) as {
              id: string
              machine?: { status: string; value?: unknown; timers: { due: number }[] }
            },
        )
        .map(({ id, machine }) => [id, machine]),
    )
    assert.equal([machines.get('paid')?.status, machines.get('paid')?.value], ['active', { paid: 'packing' }])
    assert.equal(machines.get('paid')?.timers, [])
    assert.is(machines.get('waits')?.timers.length, 1)
    assert.is(machines.get('closed')?.status, 'done')
  })

  atTerminal(it, 'have them in their lines', async (context) => {
    const cwd = await recordOrders(context)
    const { code, stdout } = await startAtTerminal(context, ['sessions'], { cwd }).ended
    assert.is(code, 0)
    const shown = plain(stdout)
    assert.match(shown, /waits +order +open /)
    assert.match(shown, /after 24 h 00 min in open in 2[34] h/)
    assert.match(shown, /paid +order +paid\.packing /)
    assert.match(shown, /closed +order +done /)
  })
})

import { readFile } from 'node:fs/promises'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { assert } from '../../../../test/support/suite.ts'
import type { RemoteHost } from '../../../bridge/src/client/remoteHost.ts'
import type { Effect } from './crash/job.ts'
import type { Payment } from './crash/payment.ts'
import { Switchboard } from './crash/switchboard.ts'
import { WorkerProcess } from './crash/workerProcess.ts'
import { recordsIn } from './recordsIn.ts'
import { describeWithEngine, type EngineContext } from './withEngine.ts'

const turn = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20))
/** One that does not answer: the worker is waited for until it is where it is armed for. */
const agents = [{ answers: new Promise(() => {}) }]

function workerIn({ file, name, cleanup }: EngineContext, armed?: 'record' | 'tool'): WorkerProcess {
  const settings = { where: file, name, effectsFile: `${file}.effects`, ...(armed === undefined ? {} : { armed }) }
  const process = WorkerProcess.worker(settings)
  cleanup(() => process.kill())
  return process
}

/** A worker behind a board to which the engine is led, and the machine "p", which it has begun. */
async function begin(context: EngineContext, armed?: 'record' | 'tool') {
  const board = await Switchboard.open()
  context.cleanup(() => board.close())
  const first = workerIn(context, armed)
  board.switchTo(await first.port())
  await context.engine.register(board.url)
  const machine = await (await context.client()).openHost('p', 'payment')
  return { board, first, machine }
}

async function untilValue(machine: RemoteHost, value: string): Promise<void> {
  while ((await machine.read()).value !== value) await turn()
}

/** Checks that everything was done once: events, effects by their keys, and the end. */
async function checkWhole({ store, file }: EngineContext): Promise<void> {
  const records: readonly LogRecord[] = await recordsIn(store(), 'p')
  assert.equal(
    records.map(({ seq }) => seq),
    records.map((_, index) => index + 1),
  )
  const events = records.flatMap((record) => (record.type === 'host.event' ? [record.event.type] : []))
  for (const type of ['pay', 'note', 'xstate.after.2000.payment.resting'])
    assert.is(events.filter((one) => one === type).length, 1, type)
  const last = records.at(-1)!
  if (last.type !== 'host.done') return assert.unreachable(`it ends with ${last.type}`)
  const { notes, receipt, letter } = last.output as Payment
  assert.equal([notes, letter], [1, 'done'])
  const effects = (await readFile(`${file}.effects`, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Effect)
  const keysOf = (name: string): Set<string> =>
    new Set(effects.flatMap(({ tool, key }) => (tool === name ? [key] : [])))
  assert.equal([...keysOf('charge')], [receipt])
  assert.is(keysOf('look').size, 1)
}

describeWithEngine('a machine whose worker dies', (it) => {
  for (const place of ['record', 'tool'] as const)
    it(
      `goes on at another one from the middle of ${place === 'record' ? 'an effect' : 'its agent’s call'}, and no event is lost`,
      { timeoutMs: 60_000 },
      async (context) => {
        const { board, first, machine } = await begin(context, place)
        await machine.send({ type: 'pay' }, { requestId: 'w' })
        await first.at(agents)
        await first.kill()
        const noted = machine.send({ type: 'note' })
        const again = machine.send({ type: 'pay' }, { requestId: 'w' })
        board.switchTo(await workerIn(context).port())
        await Promise.all([noted, again])
        await untilValue(machine, 'over')
        await checkWhole(context)
      },
    )

  it('is woken by its delay at another one', { timeoutMs: 60_000 }, async (context) => {
    const { board, first, machine } = await begin(context)
    await machine.send({ type: 'note' })
    await machine.send({ type: 'pay' })
    await untilValue(machine, 'resting')
    await first.kill()
    board.switchTo(await workerIn(context).port())
    await untilValue(machine, 'over')
    await checkWhole(context)
  })

  it(
    'is taken from one that stands still, with its agent, and that one writes nothing more',
    { timeoutMs: 60_000 },
    async (context) => {
      const { board, first, machine } = await begin(context, 'tool')
      await machine.send({ type: 'pay' })
      await first.at(agents)
      first.signal('SIGSTOP')
      board.switchTo(await workerIn(context).port())
      await machine.send({ type: 'note' })
      await untilValue(machine, 'over')
      first.signal('SIGCONT')
      first.goOn()
      await first.rests()
      await checkWhole(context)
    },
  )
})

// An order is a machine that is kept: its payment, its agent and its reminder survive a process that is killed in the middle.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { assign, setup } from 'xstate'
import { createRuntime, defineAgent, fileStore, policyModel } from '../src/index.ts'
import { agentLogic, defineHost, durable, type DurableArgs, hostMachine } from '../src/xstate.ts'

const folder = process.argv[2] ?? (await mkdtemp(join(tmpdir(), 'orders-')))
const isFirst = process.argv[2] !== undefined
const ledger = join(folder, 'ledger.txt')

const writer = defineAgent({ name: 'writer', model: policyModel(() => 'Dear customer, your clock is on its way.') })

/** The bank takes each key once. The first process is killed right after it has paid, before it could say so. */
async function charge({ input, key }: DurableArgs<{ readonly cents: number }>): Promise<string> {
  const paid = await readFile(ledger, 'utf8').catch(() => '')
  if (!paid.includes(key)) await appendFile(ledger, `${key} ${input.cents}\n`)
  if (isFirst) process.kill(process.pid, 'SIGKILL')
  return `receipt for ${input.cents} cents`
}

const order = defineHost({
  name: 'order',
  machine: (runtime) =>
    setup({
      types: {
        context: {} as { cents: number; reminders: number; said: readonly string[] },
        events: {} as { readonly type: 'pay' },
        input: {} as { cents: number },
        output: {} as readonly string[],
        children: {} as { charge: 'charge'; writer: 'writer' },
      },
      actors: { charge: durable(charge, { effects: 'idempotent' }), writer: agentLogic(runtime, writer) },
    }).createMachine({
      id: 'order',
      context: ({ input }) => ({ cents: input.cents, reminders: 0, said: [] }),
      initial: 'open',
      states: {
        open: {
          on: { pay: 'paying' },
          after: {
            100: { target: 'reminded', actions: assign({ reminders: ({ context }) => context.reminders + 1 }) },
          },
        },
        reminded: { on: { pay: 'paying' } },
        paying: {
          invoke: {
            id: 'charge',
            src: 'charge',
            input: ({ context }) => ({ cents: context.cents }),
            onDone: { target: 'writing', actions: assign({ said: ({ event }) => [event.output] }) },
            onError: 'open',
          },
        },
        writing: {
          invoke: {
            id: 'writer',
            src: 'writer',
            input: { prompt: 'Write to the customer.' },
            onDone: {
              target: 'sent',
              actions: assign({ said: ({ context, event }) => [...context.said, event.output.text] }),
            },
          },
        },
        sent: { type: 'final' },
      },
      output: ({ context }) => [`reminded ${context.reminders} times`, ...context.said],
    }),
})

const runtime = await createRuntime({ store: fileStore(join(folder, 'logs')) })
const hosted = await hostMachine(runtime, order, { id: 'order-17', input: { cents: 1_900 } })

if (isFirst) {
  await new Promise<void>((resolve) => hosted.onStep(({ value }) => value === 'reminded' && resolve()))
  // Whoever sends it again, after a timeout or a restart, pays once.
  await hosted.send({ type: 'pay' }, { requestId: 'webhook-81' })
  await hosted.done
} else {
  await hosted.close()
  const other = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], { stdio: 'inherit' })
  const [, signal] = await once(other, 'exit')
  console.log(`the first process ended by ${signal}`)
  const again = await hostMachine(runtime, order, { id: 'order-17' })
  console.log(`the order is ${JSON.stringify(again.view.value)}`)
  await again.send({ type: 'pay' }, { requestId: 'webhook-81' })
  for (const line of await again.done) console.log(line)
  console.log(`paid ${(await readFile(ledger, 'utf8')).trim().split('\n').length} time`)
  await rm(folder, { recursive: true })
}
await runtime.close()

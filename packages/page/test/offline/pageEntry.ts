import { defineSorter, openInPage, sortTask, Steps } from '../../src/offline/inPage.ts'
import type { AgentEvent } from '../../../../src/protocol/events.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { runProgram } from '../../src/offline/demo/runProgram.ts'
import { setImmediate as soon } from '../../src/offline/node/globals.ts'
import { setImmediate as breathe } from '../../src/offline/node/timersPromises.ts'

const steps = new Steps()
const page = await openInPage({ definitions: [defineSorter({ steps, wordDelayMs: 0 })] })
const client = page.connect()
const agent = await client.spawn('sorter', { id: 'sort-1' })
const events: AgentEvent[] = []
agent.subscribe((event) => events.push(event))

/** Acts of the test on the page. */
const driven = {
  steps,
  events,
  typesOf: (): readonly string[] => events.map(({ type }) => type),
  /** Begins; the result comes as text. */
  prompt: async (limitMs: number): Promise<string> => JSON.stringify(await agent.prompt(sortTask(limitMs)).result),
  run: async (files: Readonly<Record<string, string>>, timeoutMs: number): Promise<string> => {
    const { signal } = new AbortController()
    const options = { args: ['a', 'b'], timeoutMs, signal, clock: systemClock, onText: () => {} }
    return JSON.stringify(await runProgram(new Map(Object.entries(files)), 'main.mjs', options))
  },
  async order(): Promise<string> {
    const order: string[] = []
    soon(() => order.push('one'))
    soon(() => order.push('two'))
    void Promise.resolve().then(() => order.push('microtask'))
    order.push('now')
    await breathe()
    return order.join(' ')
  },
  serve: async (): Promise<string> => await page.runtime.serve().then(String, (error: unknown) => messageOf(error)),
  show: () => page.show(document.body.appendChild(document.createElement('div'))),
}

Object.assign(globalThis, { driven })

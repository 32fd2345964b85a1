import { z } from 'zod'
import type { RemoteAgentEntry } from '../../../../src/actors/parts/remote/remoteEntry.ts'
import { remoteShape, type RemoteOptions } from '../../../remote/src/remoteAgent.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { remoteAgent } from '../../../remote/src/remoteTool.ts'
import type { A2aAuth } from './boundedFetch.ts'

export interface A2aAgentOptions extends RemoteOptions {
  /** Headers for the server, such as `{ authorization: 'Bearer …' }`, or a function that returns them. They are sent to the server of the card alone. */
  readonly auth?: A2aAuth | undefined
  /** Milliseconds for each answer of the server, except streams. Default 30,000. */
  readonly answerMs?: number | undefined
}

const optionsSchema = lazily(() =>
  onlyFields({
    ...remoteShape(),
    auth: z
      .union([z.record(z.string(), z.string()), z.custom<A2aAuth>((value) => typeof value === 'function')], {
        error: 'give headers, or a function that returns them',
      })
      .default({}),
    answerMs: z.number().positive().max(3_600_000).default(30_000),
  }),
)

/**
 * Lets an agent call one that another server offers by the Agent2Agent protocol: an entry of its `agents`. The model sees a tool that takes a task. `url`
 * is the address below which the agent's card is, or that of the card. The id of the task is in the log before anything is waited for, so after a crash the
 * task is asked for, and not sent again.
 *
 * @throws RuntimeError `INVALID_DEFINITION`
 *
 * @example
 * ```ts
 * import { a2aAgent } from 'escapement/a2a'
 *
 * const clerk = a2aAgent('https://agents.example.com/a2a/clerk', { name: 'clerk', description: 'Pays bills.' })
 * const lead = defineAgent({ name: 'lead', model, agents: [clerk] })
 * ```
 */
export function a2aAgent(url: string, options: A2aAgentOptions): RemoteAgentEntry {
  const refuse = (what: string): RuntimeError => new RuntimeError('INVALID_DEFINITION', `a2aAgent: ${what}.`)
  const read = checkedBy(optionsSchema(), options, 'a2aAgent', 'INVALID_DEFINITION')
  const address = URL.parse(url)
  if (address === null || !/^https?:$/.test(address.protocol))
    throw refuse(`${JSON.stringify(url)} is no address of http or https`)
  const { restart, maxRestarts, windowMs, backoffMs, auth, answerMs, ...shared } = read
  const settings = { name: shared.name, url, auth, answerMs }
  return remoteAgent({
    ...shared,
    protocol: 'a2a',
    restarts: { restart, maxRestarts, windowMs, backoffMs },
    run: async (task, host) => {
      const load = () => Promise.all([import('./a2aLife.ts'), import('./connect.ts')])
      const [{ A2aLife }, { connect }] = await loadPeer(load, 'a2aAgent', '@a2a-js/sdk')
      const life = new A2aLife(settings, task, host, await connect(settings, host.signal))
      try {
        return await life.run(task.text)
      } finally {
        if (host.signal.aborted) await life.cancel()
      }
    },
  })
}

import { z } from 'zod'
import { lazily } from '../../../protocol/lazily.ts'
import { BoundCall } from '../../tools/boundCall.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { usualWait, mostWait, waitForName, waitingFor } from '../../tools/waitForTool.ts'
import type { BackgroundPorts } from './backgroundPorts.ts'

export const cancelCallName = 'cancel_call'
export const checkCallName = 'check_call'

/** The agent's background calls, which its ports know and a tool does not. */
interface Known {
  readonly background: BackgroundPorts
}

const id = () => z.string().max(200).describe('Id of the call, such as b3.')

/** The tools of an agent whose calls may work in the background. */
export const backgroundTools = lazily((): readonly Tool[] => [
  defineTool({
    name: waitForName,
    description: `Wait until calls in the background, or agents that work on their own, have reported, and read what they say. Give their ids as "ids", or nothing to wait for all of them. If it takes longer than "seconds" (default ${usualWait}, at most ${mostWait}), or somebody speaks to you, you are told what is still at work; its report comes later, as a message.`,
    effects: 'none',
    polls: true,
    timeoutMs: Infinity,
    maxOutputChars: 200_000,
    input: z.object({
      ids: z.array(z.string().max(200)).max(100).optional(),
      seconds: z.number().min(0).max(mostWait).optional(),
    }),
    run: ({ ids, seconds }) => waitingFor(ids, seconds),
  }),
  asOwn(
    defineTool({
      name: cancelCallName,
      description: 'End a call in the background. What it did so far is not undone.',
      effects: 'idempotent',
      input: z.object({ id: id() }),
      run: (given) => new BoundCall(({ background }: Known, signal) => background.cancel(given.id, signal)),
    }),
  ),
  defineTool({
    name: checkCallName,
    description: 'See the newest output of a call in the background, without waiting for it.',
    effects: 'none',
    polls: true,
    input: z.object({ id: id() }),
    run: (given) => new BoundCall(({ background }: Known) => background.check(given.id)),
  }),
])

import { z } from 'zod'
import { lazily } from '../../protocol/lazily.ts'
import { BoundCall } from './boundCall.ts'
import { defineTool, type Tool } from './defineTool.ts'

export const waitForName = 'wait_for'

/** Maximum and default wait of a call, in seconds. */
export const mostWait = 3_600
export const usualWait = 600

/** Result of waiting: the text that the model reads, and the reports that it holds. */
export class WaitedFor {
  readonly text: string
  /** Ids of the waiting messages. */
  readonly delivers: readonly string[]

  constructor(text: string, delivers: readonly string[]) {
    this.text = text
    this.delivers = delivers
  }
}

/** The agents and background calls to wait for; `undefined`: all. */
export interface WaitForCall {
  readonly ids: readonly string[] | undefined
  readonly ms: number
}

/** The sub-agents of an agent, which its ports know and a tool does not. */
interface Waiting {
  readonly children?: { waitFor(call: WaitForCall, signal: AbortSignal): Promise<WaitedFor> } | undefined
}

/** Returns the result of a tool that waits. An empty list means all, because models that must fill every field leave it empty. */
export const waitingFor = (ids: readonly string[] | undefined, seconds = usualWait): BoundCall<Waiting> =>
  new BoundCall(({ children }: Waiting, signal) =>
    children!.waitFor({ ids: ids?.length === 0 ? undefined : ids, ms: seconds * 1_000 }, signal),
  )

/** `wait_for`: for agents whose sub-agents report. */
export const waitForTool = lazily((): Tool =>
  defineTool({
    name: waitForName,
    description: `Wait until agents that work on their own have reported, and read what they say. Give their ids as "agents", or nothing to wait for all of them. If it takes longer than "seconds" (default ${usualWait}, at most ${mostWait}), or somebody speaks to you, you are told who is still working; their answers come later, as messages.`,
    effects: 'none',
    polls: true,
    timeoutMs: Infinity,
    maxOutputChars: 200_000,
    input: z.object({
      agents: z.array(z.string().max(200)).max(100).optional(),
      seconds: z.number().min(0).max(mostWait).optional(),
    }),
    run: ({ agents, seconds }) => waitingFor(agents, seconds),
  }),
)

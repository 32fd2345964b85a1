import { z } from 'zod'
import { lazily } from '../../protocol/lazily.ts'
import { BoundCall } from './boundCall.ts'
import { defineTool, type Tool } from './defineTool.ts'

export const waitForName = 'wait_for'

/** Maximum and default wait of a call, in seconds. */
const mostSeconds = 3_600
const defaultSeconds = 600

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

/** The agents to wait for; `undefined`: all. */
export interface WaitForCall {
  readonly agents: readonly string[] | undefined
  readonly ms: number
}

/** The sub-agents of an agent, of which it knows and a tool does not. */
interface Waiting {
  readonly children?: { waitFor(call: WaitForCall, signal: AbortSignal): Promise<WaitedFor> } | undefined
}

/** `wait_for`: for agents whose sub-agents report. */
export const waitForTool = lazily((): Tool =>
  defineTool({
    name: waitForName,
    description: `Wait until agents that work on their own have reported, and read what they say. Give their ids as "agents", or nothing to wait for all of them. If it takes longer than "seconds" (default ${defaultSeconds}, at most ${mostSeconds}), or somebody speaks to you, you are told who is still working; their answers come later, as messages.`,
    effects: 'none',
    polls: true,
    timeoutMs: Infinity,
    maxOutputChars: 200_000,
    input: z.object({
      agents: z.array(z.string().max(200)).max(100).optional(),
      seconds: z.number().min(0).max(mostSeconds).optional(),
    }),
    run: ({ agents, seconds = defaultSeconds }) =>
      new BoundCall(({ children }: Waiting, signal) =>
        // Models that must fill every field leave a list empty.
        children!.waitFor({ agents: agents?.length === 0 ? undefined : agents, ms: seconds * 1_000 }, signal),
      ),
  }),
)

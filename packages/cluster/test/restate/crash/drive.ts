import type { RestateClient, RestateOutcome } from '../../../../../src/restate.ts'
import type { Place } from './job.ts'

/** Long enough that a summary is shorter. */
const padding = `\n${'It is a long story. '.repeat(200)}`

const lists: Readonly<Record<Place, readonly [string, string]>> = {
  reply: ['look,pay', ''],
  record: ['look,pay', 'look'],
  tool: ['look,pay', 'look'],
  child: ['pay,helper,look', 'look'],
  drain: ['look', 'look,pay'],
  approval: ['look,publish,pay', 'look'],
}

/** Messages for an agent, one after another: `prompts` in all. */
export function contentsFor(place: Place, prompts: number): readonly string[] {
  const more = Array.from({ length: prompts - 2 }, () => 'look,pay,helper')
  return [...lists[place], ...more].map((list) => `${list}${padding}`)
}

/** An agent under way. */
export interface Driven {
  /** Resolves once a call waits for a person. */
  readonly waits: Promise<unknown>
  /** Has the person decide. */
  decide(): void
  readonly answers: Promise<readonly RestateOutcome[]>
}

/** Gives an agent its prompts, one after another, with what lies between them. */
export function drive(client: RestateClient, agentId: string, place: Place, prompts: number): Driven {
  const [content, ...more] = contentsFor(place, prompts)
  const prompt = (requestId: string, said: string): Promise<RestateOutcome> =>
    client.request({ type: 'agent.prompt', agentId, content: said }, { requestId: `${agentId}-${requestId}` })
  const first = prompt('p1', content!)
  const decided = Promise.withResolvers<void>()
  const answers = async (): Promise<readonly RestateOutcome[]> => {
    let one = await first
    if (place === 'approval') {
      await decided.promise
      const callId = one.callIds?.[0] ?? ''
      const command = { type: 'agent.decide', agentId, callId, decision: 'approve' } as const
      one = await client.request(command, { requestId: `${agentId}-d1` })
    }
    if (place === 'drain') await client.request({ type: 'agent.compact', agentId }, { requestId: `${agentId}-c1` })
    const all = [one]
    for (const [index, said] of more.entries()) all.push(await prompt(`p${index + 2}`, said))
    return all
  }
  return { waits: first, decide: decided.resolve, answers: answers() }
}

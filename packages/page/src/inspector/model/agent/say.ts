import type { RemoteAgent } from '../../../../../bridge/src/client/index.ts'
import type { ProvenanceKind } from '../../../../../../src/protocol/provenance.ts'
import type { Content } from '../../../../../../src/protocol/text/saidContent.ts'

/** Ways to say something to an agent. */
export type SayHow = 'prompt' | 'steer' | 'followUp' | 'interrupt'

/**
 * Says something to an agent, or resumes it. `provenance`: its origin, if that is not a person. Rejects with the
 * server's refusal. Does not wait for a run that has started.
 *
 * @throws RuntimeError `INVALID_CONTENT`
 */
export async function say(
  agent: RemoteAgent,
  how: SayHow | 'resume',
  content: Content,
  from: { readonly provenance?: ProvenanceKind } = {},
): Promise<void> {
  if (how === 'steer' || how === 'followUp') return agent[how](content, from)
  const run = how === 'resume' ? agent.resume() : agent[how](content, from)
  // A run that never began is refused by its result; one that began is in the log.
  void run.result.catch(() => {})
  const begun = Promise.withResolvers<undefined>()
  const unsubscribe = agent.subscribe(() => begun.resolve(undefined))
  const result = await Promise.race([run.result, begun.promise]).finally(unsubscribe)
  if (result?.error !== undefined && result.turns === 0) {
    const { code, message } = result.error
    throw Object.assign(new Error(message), { code })
  }
}

import { rebuildConversation } from '../../src/conversation/tree/rebuildConversation.ts'
import type { ReplyOutput } from '../../src/machines/effectTypes.ts'
import type { GuardVerdict } from '../../src/protocol/guarding.ts'
import type { Outcome } from '../support/arbitraries.ts'
import type { ChildOf, MachineDriver } from '../support/machineDriver.ts'
import { diskFull, text } from './agentScript.ts'

/** Reply after guards: the outcome says what they decide. Without guards, the reply. */
export function guarded(
  driver: MachineDriver,
  { input: { guardedTo } }: ChildOf<'streamReply'>,
  reply: ReplyOutput,
  { isError, isKept, tokens }: Outcome,
): ReplyOutput {
  if (guardedTo === undefined) return reply
  const { path } = rebuildConversation(driver.records)
  const said = path.filter(({ id, message }) => id > guardedTo && message.role === 'user').map(({ id }) => id)
  const to = path.at(-1)!.id
  const at = 'input'
  const refused = { guard: 'g', reason: 'no' } as const
  if (said.length > 0 && isError) {
    const verdict: GuardVerdict = isKept
      ? { at, decision: 'refused', ...refused, to, withheld: said }
      : { at, decision: 'failed', guard: 'g', error: diskFull }
    const failure = { kind: isKept ? 'refused' : 'unguarded', error: diskFull } as const
    return { key: reply.key, ok: false, failure, guards: [verdict], at: reply.at, jitter: 1 }
  }
  const passed: GuardVerdict[] = said.length === 0 ? [] : [{ at, decision: 'passed', to }]
  if (!reply.ok || reply.calls.length > 0 || tokens % 2 === 0) return { ...reply, guards: passed }
  const verdict: GuardVerdict = { at: 'output', decision: 'refused', ...refused }
  const message = { ...reply.message, content: text('[no]'), stopReason: 'refusal' } as const
  const withheld = { at: 'output', ...refused, content: reply.message.content } as const
  return { ...reply, message, withheld, guards: [...passed, verdict] }
}

import { createHash } from 'node:crypto'
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { callAsText } from '../../../charts/src/text/callInFull.ts'
import type { DecideOptions, Decision } from '../../../../src/protocol/bridge/commands.ts'
import { hasCode, messageOf } from '../../../../src/protocol/errors.ts'
import type { JsonSchema } from '../../../../src/protocol/ports/model.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { AgentAccess } from '../../../bridge/src/server/agentAccess.ts'
import type { DrivenAgent } from '../../../bridge/src/server/drivenAgent.ts'
import { answerForm } from '../../../bridge/src/server/answerForm.ts'

/** Maximum length of a call's text in a form, in UTF-16 units. Clients cut longer texts. */
const maxCall = 16_000

const approvalSchema: JsonSchema = {
  type: 'object',
  properties: {
    approve: { type: 'boolean', description: 'Whether it may be called.' },
    reason: { type: 'string', description: 'Why not: the agent is told.' },
  },
  required: ['approve'],
}

const resultSchema: JsonSchema = {
  type: 'object',
  properties: { result: { type: 'string', description: 'What it gave.' } },
  required: ['result'],
}

/** Returns the full input of a call or, if it is too long for a form, a text that says where it can be seen and decided. */
function shownCall({ input }: Pending): { readonly text: string; readonly isWhole: boolean } {
  const text = callAsText(input)
  if (text.length <= maxCall) return { text, isWhole: true }
  const why = `Its arguments are too long to be shown here as a whole (${text.length} characters, at most ${maxCall})`
  return {
    text: `${why}: decide it on the inspector page, with escapement attach, or in the application.`,
    isWhole: false,
  }
}

/** Returns true if a form can show everything that people need to know for a decision. */
export const fitsForm = (pending: Pending): boolean => pending.kind === 'question' || shownCall(pending).isWhole

/** Returns a sentence for people about a waiting entry, with all arguments of a call. */
export function askedOf(pending: Pending): string {
  const { name, agentId } = pending
  const { text, isWhole } = shownCall(pending)
  switch (pending.kind) {
    case 'approval':
      return isWhole ? `May ${agentId} call ${name}${text}?` : `${agentId} waits for an approval of ${name}. ${text}`
    case 'call':
      return isWhole ? `${agentId} asks for this to be done: ${name}${text}` : `${agentId} waits for ${name}. ${text}`
    case 'question':
      return pending.problem === undefined
        ? pending.question
        : `${pending.question}\n(The last answer did not do: ${pending.problem})`
  }
}

const schemaOf = (pending: Pending): JsonSchema =>
  ({ approval: approvalSchema, call: resultSchema, question: pending.kind === 'question' ? pending.schema : {} })[
    pending.kind
  ]

/** Returns the form in which the client shows a pending call or question. Pure. */
export const formFor = (pending: Pending): ElicitRequestFormParams => ({
  mode: 'form',
  message: askedOf(pending),
  requestedSchema: answerForm(schemaOf(pending)).schema as unknown as ElicitRequestFormParams['requestedSchema'],
})

const responseSchema = z.object({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.record(z.string(), z.unknown()).nullish(),
})

interface Decided {
  readonly decision: Decision
  readonly how: DecideOptions
}

/** Reads people's decision from the client's response; `undefined` if it cannot be read. */
function decidedBy(pending: Pending, response: unknown): Decided | undefined {
  const read = responseSchema.safeParse(response)
  if (!read.success) return undefined
  const { action, content } = read.data
  const denied = (reason: string): Decided => ({ decision: 'deny', how: { reason } })
  if (action === 'decline') return denied('The user did not want to answer.')
  if (action === 'cancel') return denied('The question was dismissed.')
  const value = answerForm(schemaOf(pending)).read(content ?? {})
  if (pending.kind === 'question') return { decision: { value }, how: {} }
  // Nobody has seen all of it.
  if (!fitsForm(pending)) return undefined
  const { approve, reason, result } = value as { approve?: unknown; reason?: unknown; result?: unknown }
  if (pending.kind === 'call') return typeof result === 'string' ? { decision: { result }, how: {} } : undefined
  if (approve === true) return { decision: 'approve', how: {} }
  return denied(typeof reason === 'string' && reason.trim() !== '' ? reason : 'Rejected by the user.')
}

/** Returns a hash of the parts of a pending call or question that people are shown. A decision applies to these alone. */
export const asShown = (pending: Pending): string => {
  const { kind, agentId, name, input } = pending
  const asked = kind === 'question' ? [pending.question, pending.schema] : []
  return createHash('sha256')
    .update(JSON.stringify([kind, agentId, name, input, ...asked]))
    .digest('base64url')
}

/** Answers of the client by the key of the call or question, each with the hash of the content that people saw. */
export type Answers = { readonly [key: string]: { readonly answer: unknown; readonly shown: string } }

/** Outcome of answers. */
export interface Taken {
  /** Number of answers that were taken. */
  readonly count: number
  /** Problems of answers that were refused, by the keys of their questions. */
  readonly problems: ReadonlyMap<string, string>
}

/** Applies answers to calls and questions that are still as they were shown. Rejects as `access.checkAdmitted`. */
export async function decideBy(
  agent: DrivenAgent,
  answers: Answers,
  access: Pick<AgentAccess, 'checkAdmitted'>,
): Promise<Taken> {
  const problems = new Map<string, string>()
  let count = 0
  for (const pending of agent.pending()) {
    const given = Object.hasOwn(answers, pending.key) ? answers[pending.key] : undefined
    if (given === undefined || given.shown !== asShown(pending)) continue
    const decided = decidedBy(pending, given.answer)
    if (decided === undefined) continue
    access.checkAdmitted()
    try {
      agent.decide(pending.key, decided.decision, decided.how)
      await agent.taken?.()
      count += 1
    } catch (thrown) {
      // Else somebody was faster, or the agent has ended.
      if (hasCode(thrown, 'ANSWER_INVALID')) problems.set(pending.key, messageOf(thrown))
    }
  }
  return { count, problems }
}

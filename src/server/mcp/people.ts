import { createHash } from 'node:crypto'
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { cutMiddle } from '../../conversation/cutMiddle.ts'
import type { DecideOptions, Decision } from '../../protocol/commands.ts'
import { hasCode, messageOf } from '../../protocol/errors.ts'
import type { JsonSchema } from '../../protocol/model.ts'
import type { Pending } from '../../protocol/pending.ts'
import type { DrivenAgent } from '../bridge/drivenAgent.ts'
import { answerForm } from '../bridge/answerForm.ts'

/** Longest input of a call that a person is shown, in UTF-16 units. */
const maxInput = 4_000

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

/** What waits, in a sentence for people. */
export function askedOf(pending: Pending): string {
  const { name, input, agentId } = pending
  const call = `${name} ${cutMiddle(JSON.stringify(input) ?? '', maxInput)}`
  switch (pending.kind) {
    case 'approval':
      return `May ${agentId} call ${call}?`
    case 'call':
      return `${agentId} asks for this to be done: ${call}`
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

/** What waits, as the client shows it. Pure. */
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

/** What people decided by what the client says; `undefined`: it says nothing that can be read. */
function decidedBy(pending: Pending, response: unknown): Decided | undefined {
  const read = responseSchema.safeParse(response)
  if (!read.success) return undefined
  const { action, content } = read.data
  const denied = (reason: string): Decided => ({ decision: 'deny', how: { reason } })
  if (action === 'decline') return denied('The user did not want to answer.')
  if (action === 'cancel') return denied('The question was dismissed.')
  const value = answerForm(schemaOf(pending)).read(content ?? {})
  if (pending.kind === 'question') return { decision: { value }, how: {} }
  const { approve, reason, result } = value as { approve?: unknown; reason?: unknown; result?: unknown }
  if (pending.kind === 'call') return typeof result === 'string' ? { decision: { result }, how: {} } : undefined
  if (approve === true) return { decision: 'approve', how: {} }
  return denied(typeof reason === 'string' && reason.trim() !== '' ? reason : 'Rejected by the user.')
}

/** Answers by the key of what they answer: as the client sent them. */
export type Answers = { readonly [key: string]: unknown }

/** Answers, and what people were shown when they gave them: as hashes, by the keys. */
export interface Given {
  readonly answers: Answers
  readonly shown: Readonly<Record<string, string>>
}

/** What waits as a hash: the same as long as people are shown the same. */
function hashOf({ kind, agentId, name, input, ...more }: Pending): string {
  const asked = 'question' in more ? [more.question, more.schema] : []
  return createHash('sha256')
    .update(JSON.stringify([kind, agentId, name, input, asked]))
    .digest('base64url')
    .slice(0, 22)
}

/** What people are shown. */
export const shownOf = (pending: readonly Pending[]): Given['shown'] =>
  Object.fromEntries(pending.map((one) => [one.key, hashOf(one)]))

/** What came of answers. */
export interface Taken {
  /** How many were taken. */
  readonly count: number
  /** What was wrong with those that were refused, by the keys of their questions. */
  readonly problems: ReadonlyMap<string, string>
}

/** Decides what was answered, of what still is as it was shown. */
export async function decideBy(agent: DrivenAgent, { answers, shown }: Given): Promise<Taken> {
  const problems = new Map<string, string>()
  let count = 0
  for (const pending of agent.pending()) {
    if (!Object.hasOwn(answers, pending.key)) continue
    if (shown[pending.key] !== hashOf(pending)) continue
    const decided = decidedBy(pending, answers[pending.key])
    if (decided === undefined) continue
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

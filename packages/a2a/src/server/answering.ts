import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import type { Part } from '@a2a-js/sdk'
import { z } from 'zod'
import type { Decision } from '../../../../src/protocol/bridge/commands.ts'
import { formOf, limitWords, readTyped } from '../../../bridge/src/client/questionForm.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import { dataIn, textIn } from '../messages.ts'

/** A decision about a pending entry, or the problem of an invalid answer. */
export type Answered = { readonly decision: Decision; readonly reason?: string } | { readonly problem: string }

const dataSchema = lazily(() =>
  z.union([onlyFields({ approve: z.boolean(), reason: z.string().optional() }), onlyFields({ answer: z.unknown() })]),
)

/** Reads a message's answer to a pending entry: a data part `{ approve }` or `{ answer }`, or words. Pure. */
export function answerTo(pending: Pending, parts: readonly Part[]): Answered {
  const [data] = dataIn(parts)
  if (data !== undefined) return byData(pending, data)
  const text = textIn(parts).trim()
  switch (pending.kind) {
    case 'approval':
      return byWords(text)
    case 'question': {
      const form = formOf(pending.schema)
      const typed = readTyped(form, text)
      return 'problem' in typed
        ? { problem: `${typed.problem}; answer with ${limitWords(form) || 'a text'}` }
        : { decision: { value: typed.value } }
    }
    case 'call':
      return text === '' ? { problem: 'answer with the result' } : { decision: { result: text } }
  }
}

function byData(pending: Pending, data: unknown): Answered {
  const read = dataSchema().safeParse(data)
  if (!read.success) return { problem: 'the data is neither { approve, reason? } nor { answer }' }
  const given = read.data
  if ('approve' in given && !given.approve) return denied(given.reason)
  if (pending.kind === 'approval')
    return 'approve' in given
      ? { decision: 'approve' }
      : { problem: 'an approval is answered with { approve, reason? }' }
  if ('approve' in given) return { problem: 'it is answered with { answer }' }
  return { decision: pending.kind === 'question' ? { value: given.answer } : { result: given.answer } }
}

const denied = (reason = 'Rejected by the user.'): Answered => ({ decision: 'deny', reason })

/** Reads an answer in words. Only a plain yes allows something. */
function byWords(text: string): Answered {
  if (/^(?:y|yes|ok|okay|approve|approved|allow)[.!]?$/i.test(text)) return { decision: 'approve' }
  const no = /^(?:n|no|deny|denied|reject|rejected)\b[\s,.:;!-]*(.*)$/is.exec(text)
  return no === null ? { problem: 'answer with yes or no' } : denied(no[1] || undefined)
}

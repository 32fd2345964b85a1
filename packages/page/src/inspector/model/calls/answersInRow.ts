import type { Pending } from '../../../../../../src/protocol/runs/pending.ts'
import { quickAnswers, type QuickAnswer } from '../../../../../bridge/src/client/quickAnswers.ts'

/** Returns the quick answers to a question that fits on its line, where a button for each is enough. Pure. */
export function answersInRow(pending: Pending): readonly QuickAnswer[] | undefined {
  const isWhole = pending.kind === 'question' && pending.question.trim().length <= 120
  return isWhole ? quickAnswers(pending.schema) : undefined
}

import { later } from '../../parts/later.tsx'
import type { ApprovalProps } from './approvalCard.tsx'
import type { CardProps } from './questionCard.tsx'

/** A call that waits for approval. Its code is loaded with the first one. */
export const ApprovalCard = later<ApprovalProps>(
  'Loading the call',
  async () => (await import('./approvalCard.tsx')).ApprovalCard,
)

/** A question with its form. Its code is loaded with the first one. */
export const QuestionCard = later<CardProps>(
  'Loading the question',
  async () => (await import('./questionCard.tsx')).QuestionCard,
)

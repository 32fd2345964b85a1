import { later } from '../../parts/later.tsx'
import type { CardProps } from './questionCard.tsx'

/** A question with its form, whose code comes with the first one. */
export const QuestionCard = later<CardProps>(
  'Loading the question',
  async () => (await import('./questionCard.tsx')).QuestionCard,
)

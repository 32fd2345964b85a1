import { z } from 'zod'
import { lazily } from './lazily.ts'

/** A question of a tool to people. */
export const questionSchema = lazily(() =>
  z.object({
    /** Unique across all agents: whoever answers names it. */
    key: z.string(),
    question: z.string(),
    /** The JSON Schema of an answer. */
    schema: z.record(z.string(), z.unknown()).readonly(),
    /** Why the last answer to the same question could not be used. */
    problem: z.string().exactOptional(),
  }),
)
export type Question = z.infer<ReturnType<typeof questionSchema>>

/** What came of a question. */
export const answerSchema = lazily(() =>
  z.object({
    decision: z.enum(['answer', 'deny']),
    /** Of an answer: as it was given, before the tool's schema read it. */
    value: z.unknown().exactOptional(),
    /** Of a denial. */
    reason: z.string().exactOptional(),
  }),
)

/** An answer with the question that it is for, as a call that runs again is given it. */
export type Answer = z.infer<ReturnType<typeof answerSchema>> & Pick<Question, 'question'>

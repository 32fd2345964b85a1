import { z } from 'zod'
import { lazily } from './lazily.ts'

/** A question of a tool to people. */
export const questionSchema = lazily(() =>
  z.object({
    /** Unique across all agents: an answer names it. */
    key: z.string(),
    question: z.string(),
    /** The JSON Schema of an answer. */
    schema: z.record(z.string(), z.unknown()).readonly(),
    /** Why the last answer to the same question could not be used. */
    problem: z.string().exactOptional(),
  }),
)
export type Question = z.infer<ReturnType<typeof questionSchema>>

/** Outcome of a question. */
export const answerSchema = lazily(() =>
  z.object({
    decision: z.enum(['answer', 'deny']),
    /** For an answer: the value as it was given, before the tool's schema read it. */
    value: z.unknown().exactOptional(),
    /** For a denial. */
    reason: z.string().exactOptional(),
  }),
)

/** An answer with the question that it is for, as a call that runs again is given it. */
export type Answer = z.infer<ReturnType<typeof answerSchema>> & Pick<Question, 'question'>

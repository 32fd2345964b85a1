import { z } from 'zod'
import { lazily } from './lazily.ts'

/** A question from a tool to people. */
export const questionSchema = lazily(() =>
  z.object({
    /** Key of the question, unique across all agents. An answer names it. */
    key: z.string(),
    question: z.string(),
    schema: z.record(z.string(), z.unknown()).readonly(),
    /** Reason why the last answer to the same question could not be used. */
    problem: z.string().exactOptional(),
  }),
)
export type Question = z.infer<ReturnType<typeof questionSchema>>

/** Outcome of a question. */
export const answerSchema = lazily(() =>
  z.object({
    decision: z.enum(['answer', 'deny']),
    /** The value of an answer as it was given, before the tool's schema parsed it. */
    value: z.unknown().exactOptional(),
    /** Reason for a denial. */
    reason: z.string().exactOptional(),
  }),
)

/** An answer with its question, as passed to a call that runs again. */
export type Answer = z.infer<ReturnType<typeof answerSchema>> & Pick<Question, 'question'>

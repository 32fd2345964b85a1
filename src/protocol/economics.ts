import { z } from 'zod'
import { lazily } from './lazily.ts'

/** What it costs and saves to reshape what the model sees. Tokens are estimates, corrected by what the provider last measured. */
export const economicsSchema = lazily(() =>
  z.object({
    /** Tokens that every later request is smaller by: those taken off, less the notes put in their place. Negative if it grew. */
    freed: z.int(),
    /** Tokens of the next request that the provider's cache cannot serve: from the first change to the end. */
    rewritten: z.int().nonnegative(),
    /** It has paid for itself after so many requests, the next one being the first; `null`: never. */
    paysAfter: z.int().positive().nullable(),
  }),
)
export type Economics = z.infer<ReturnType<typeof economicsSchema>>

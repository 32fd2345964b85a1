import { z } from 'zod'
import { lazily } from './lazily.ts'

/** Costs and savings of a change to the content that the model sees. Tokens are estimates, corrected by the provider's last measurement. */
export const economicsSchema = lazily(() =>
  z.object({
    /** Tokens that every later request is smaller by: those taken off, less the notes put in their place. Negative if it grew. */
    freed: z.int(),
    /** Tokens of the next request that the provider's cache cannot serve: from the first change to the end. */
    rewritten: z.int().nonnegative(),
    /** Number of requests after which the change has paid for itself, the next one being the first; `null`: never. */
    paysAfter: z.int().positive().nullable(),
  }),
)
export type Economics = z.infer<ReturnType<typeof economicsSchema>>

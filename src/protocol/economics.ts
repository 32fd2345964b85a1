import { z } from 'zod'
import { lazily } from './lazily.ts'

/** Costs and savings of a change to the content that the model sees. Token counts are estimates, corrected by the provider's last measurement. */
export const economicsSchema = lazily(() =>
  z.object({
    /** Tokens saved in every later request: the removed tokens, less the notes that replace them. Negative if the request grew. */
    freed: z.int(),
    /** Tokens of the next request that the provider's cache cannot serve, from the first change to the end. */
    rewritten: z.int().nonnegative(),
    /** Number of requests after which the change has paid for itself, including the next one; `null` means never. */
    paysAfter: z.int().positive().nullable(),
  }),
)
export type Economics = z.infer<ReturnType<typeof economicsSchema>>

/** Prices of a token, in any unit; a missing price is that of `input`. */
export const pricesSchema = lazily(() =>
  z.object({
    input: z.number(),
    output: z.number(),
    cacheRead: z.number().exactOptional(),
    cacheWrite: z.number().exactOptional(),
  }),
)
export type Prices = Readonly<z.infer<ReturnType<typeof pricesSchema>>>

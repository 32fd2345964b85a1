import { z } from 'zod'
import { lazily } from './lazily.ts'

/** An error as plain data. Apart from the errors themselves, which the command line has before it has zod. */
export const errorInfoSchema = lazily(() => z.object({ code: z.string(), message: z.string() }))

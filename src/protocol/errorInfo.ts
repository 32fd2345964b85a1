import { z } from 'zod'
import { lazily } from './lazily.ts'

/** An error as plain data. In a file of its own, because the command line loads the errors before it loads zod. */
export const errorInfoSchema = lazily(() => z.object({ code: z.string(), message: z.string() }))

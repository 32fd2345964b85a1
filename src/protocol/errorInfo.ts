import { z } from 'zod'
import { lazily } from './lazily.ts'

/** Schema of an error as plain data. It has its own file because the command line loads the errors before it loads zod. */
export const errorInfoSchema = lazily(() => z.object({ code: z.string(), message: z.string() }))

import { z } from 'zod'

/** An error as plain data. Apart from the errors themselves, which the command line has before it has zod. */
export const errorInfoSchema = z.object({ code: z.string(), message: z.string() })

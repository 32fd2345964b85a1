import { z } from 'zod'
import { lazily } from '../lazily.ts'

/** Fields of every request to change the trunk. */
export const asked = lazily(() => ({
  id: z.string(),
  by: z.enum(['model', 'person']),
}))

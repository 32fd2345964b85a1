import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import type { RetryPolicy } from '../../machines/agentPolicy.ts'

/** Default retry policy of a definition. */
export const defaultRetry: RetryPolicy = Object.freeze({
  attempts: 4,
  baseMs: 1_000,
  maxMs: 60_000,
  maxRetryAfterMs: 600_000,
  silenceMs: 300_000,
})

export const retrySchema = () =>
  onlyFields({
    attempts: z.int().positive(),
    baseMs: z.number().nonnegative(),
    maxMs: z.number().nonnegative(),
    maxRetryAfterMs: z.number().nonnegative(),
    silenceMs: z.number().positive(),
  }).partial()

import { anthropic } from '@ai-sdk/anthropic'
import { policyModel, type AnyModel } from 'escapement'
import { reply } from './demoReplies.ts'

/**
 * Claude, if ANTHROPIC_API_KEY is set. Else a function stands in for a model, which needs no key and knows this demo alone. Any other model of the
 * AI SDK will do: npm install @ai-sdk/openai, and return openai('…') here. The provider is asked to cache what requests begin with; `cache: false` of
 * an agent switches that off.
 */
export const chooseModel = (): AnyModel =>
  process.env['ANTHROPIC_API_KEY']
    ? anthropic('claude-sonnet-5-5')
    : policyModel(reply, { id: 'demo', wordDelayMs: 10 })

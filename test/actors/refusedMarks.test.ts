import { refusedPart, withoutRefused } from '../../src/actors/models/openStream.ts'
import { errorInfo } from '../../src/protocol/errors.ts'
import type { ModelRequest } from '../../src/protocol/ports/model.ts'
import { assert, describe } from '../support/suite.ts'

const request: ModelRequest = {
  system: '',
  tools: [],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'go' }] }],
  settings: { maxTokens: 9, cache: { ttl: '1h' } },
}
const refusal = (message: string) => ({ kind: 'badRequest', error: errorInfo('MODEL_BAD_REQUEST', message) }) as const

describe('marks that a provider refuses', (it) => {
  it('are left out from here on, and nothing else of the request', () => {
    for (const message of [
      'messages.0.content.0.text.cache_control: Extra inputs are not permitted',
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
      'The model does not support cachePoint.',
      'Unknown parameter: prompt_cache_key',
    ]) {
      const { part } = refusedPart(request, refusal(message), 'm:m')!
      assert.equal(part, { part: 'cache', model: 'm:m' })
      const at = { model: 'm:m', turnIndex: 3, provenance: () => [] }
      const left = withoutRefused(request, [{ ...part, turnIndex: 1 }], at)
      assert.equal(left, { ...request, settings: { maxTokens: 9, cache: false } })
      assert.is(refusedPart(left, refusal(message), 'm:m'), undefined)
      assert.is(withoutRefused(request, [{ ...part, turnIndex: 1 }], { ...at, model: 'other' }), request)
    }
  })
})

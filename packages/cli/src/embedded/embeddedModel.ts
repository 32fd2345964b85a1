import { policyModel } from '../../../models/src/policyModel.ts'
import type { Model } from '../../../../src/protocol/ports/model.ts'
import { decideRepair } from './decideRepair.ts'

/** Returns the default model if there is no other. It needs no key and no network, and can only repair failing tests. */
export const embeddedModel = (options: { readonly wordDelayMs?: number } = {}): Model =>
  policyModel(decideRepair, { id: 'embedded:repair', ...options })

import type { ModelError, ModelPart, ModelRequest } from '../../../../src/protocol/ports/model.ts'
import { blankSettings, blankText } from '../../../../src/log/redaction/blankSecrets.ts'

/** Returns a request without secrets, as `blankSettings` does. */
export function blankRequest(request: ModelRequest): ModelRequest {
  const settings = blankSettings(request.settings)
  return settings === request.settings ? request : { ...request, settings }
}

/** Returns a part with keys removed from its error text. Other parts are returned unchanged. */
export const blankPart = (part: ModelPart): ModelPart =>
  part?.type === 'error' && typeof part.error?.message === 'string'
    ? { ...part, error: blankError(part.error) }
    : part?.type === 'model' && typeof part.after?.message === 'string'
      ? { ...part, after: blankError(part.after) }
      : part

const blankError = (error: ModelError): ModelError => ({ ...error, message: blankText(error.message) })

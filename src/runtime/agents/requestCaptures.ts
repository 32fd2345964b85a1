import { blankSettings } from '../../log/redaction/blankSecrets.ts'
import {
  capturedRequests,
  captureRequest,
  type RequestDifference,
  type TurnRequest,
} from '../../conversation/request/captureRequest.ts'
import { isNestedDeeper, mostLevels } from '../../protocol/checks/nesting.ts'
import { maxContentChars, jsonChars } from '../../protocol/text/saidContent.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { ModelRequest } from '../../protocol/ports/model.ts'
import type { Provenance } from '../../protocol/provenance.ts'
import type { LogRecord } from '../../protocol/records.ts'

/** Captures an agent's requests for its log, each as its difference from the one before. */
export class RequestCaptures {
  #last: TurnRequest | undefined

  /** Continues from `records`: the log so far; for a fork, the shared past first. */
  constructor(records: Iterable<LogRecord>) {
    for (const captured of capturedRequests(records)) this.#last = captured
  }

  /**
   * Returns the difference to record for the next request.
   *
   * @throws RuntimeError `RECORD_TOO_LARGE`
   */
  next(model: string, request: ModelRequest, provenance: readonly Provenance[]): RequestDifference {
    const settings = blankSettings(request.settings)
    const next = { model, request: { ...request, settings }, provenance }
    const difference = captureRequest(this.#last, next)
    if (isNestedDeeper(difference, mostLevels))
      throw new RuntimeError(
        'RECORD_TOO_LARGE',
        `A request nested deeper than ${mostLevels} levels cannot be captured.`,
      )
    if (jsonChars(difference) > maxContentChars)
      throw new RuntimeError('RECORD_TOO_LARGE', 'A request is too large to be captured.')
    this.#last = next
    return difference
  }
}

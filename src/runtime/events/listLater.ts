import type { ToldRequest } from '../../conversation/request/assembleRequest.ts'
import type { EventOf } from '../../protocol/events.ts'
import type { ModelRequest } from '../../protocol/ports/model.ts'

type RequestEvent = EventOf<'turn.request'>

/** Details of a request, built on first access. Keeps no reference to the model's data. */
class LaterRequest {
  readonly #frame: Omit<ModelRequest, 'messages'>
  readonly #told: ToldRequest
  #request: ModelRequest | undefined

  constructor(frame: Omit<ModelRequest, 'messages'>, told: ToldRequest) {
    this.#frame = frame
    this.#told = told
  }

  get request(): ModelRequest {
    return (this.#request ??= { ...this.#frame, messages: this.#told.messages() })
  }

  get provenance(): RequestEvent['provenance'] {
    return this.#told.provenance()
  }
}

const later = Symbol('later')

/** Returns an accessor shared by all events. Closures for each would take two kilobytes per event, and an unread run holds thousands. */
const listed = (name: 'request' | 'provenance'): PropertyDescriptor & ThisType<{ [later]: LaterRequest }> => ({
  enumerable: true,
  configurable: true,
  get() {
    return this[later][name]
  },
})
const properties = { request: listed('request'), provenance: listed('provenance') }

/** Makes an event build its request when first read, even if it is frozen by then, because most requests are never read. */
export function listLater(
  event: Omit<RequestEvent, 'request' | 'provenance'>,
  frame: Omit<ModelRequest, 'messages'>,
  told: ToldRequest,
): RequestEvent {
  Object.defineProperty(event, later, { value: new LaterRequest(frame, told) })
  Object.defineProperty(event, 'request', properties.request)
  Object.defineProperty(event, 'provenance', properties.provenance)
  return event as RequestEvent
}

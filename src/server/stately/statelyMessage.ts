import type { ActorRefLike, AnyActorRef, InspectionEvent } from 'xstate'

/** Version of Stately's message format. */
const format = '0.7.2'

/** Logic is described by its config, with functions replaced by their names. */
const named = (_key: string, value: unknown): unknown => (typeof value === 'function' ? { type: value.name } : value)

const definitions = new WeakMap<object, string>()

function definitionOf(actor: AnyActorRef): string {
  const { config } = (actor as unknown as { readonly logic: { readonly config?: unknown } }).logic
  if (typeof config !== 'object' || config === null) return JSON.stringify({ id: actor.id })
  const known = definitions.get(config) ?? JSON.stringify(config, named)
  definitions.set(config, known)
  return known
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, named) ?? 'null') as unknown

const sessionOf = (actor: ActorRefLike | undefined): string | undefined => actor?.sessionId

/**
 * An inspection event of XState as the Stately inspector takes it; `undefined` for those it has no message for. Shapes: those of
 * `@statelyai/inspect`.
 */
export function statelyMessage(event: InspectionEvent, time: number): object | undefined {
  const actor = event.actorRef as AnyActorRef
  const about = {
    sessionId: actor.sessionId,
    rootId: event.rootId,
    createdAt: String(time),
    id: null,
    _version: format,
  }
  switch (event.type) {
    case '@xstate.actor':
      return {
        type: event.type,
        name: actor.id,
        definition: definitionOf(actor),
        // oxlint-disable-next-line no-underscore-dangle -- XState names it so
        parentId: sessionOf(actor._parent),
        snapshot: plain(actor.getSnapshot()),
        ...about,
      }
    case '@xstate.event':
      return { type: event.type, event: plain(event.event), sourceId: sessionOf(event.sourceRef), ...about }
    case '@xstate.snapshot':
      return { type: event.type, event: plain(event.event), snapshot: plain(event.snapshot), ...about }
    default:
      return undefined
  }
}

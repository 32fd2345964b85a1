import type { ChatCall } from '../../bridge/src/client/fold/chat.ts'
import { useAgentView } from './useAgent.ts'

/** A call as a component sees it; `data` is what its tool gives the application. */
export type UsedCall<Data = unknown> = Omit<ChatCall, 'data'> & { readonly data?: Data }

/**
 * The newest call of an agent with this id; `undefined` before there is one. `data` comes with its end, for a client that may see results.
 *
 * @throws RuntimeError `PROVIDER_MISSING`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useCall } from 'escapement/react'
 *
 * function Rows({ id, callId }: { id: string; callId: string }) {
 *   const call = useCall<{ table: string[] }>(id, callId)
 *   return createElement('ul', null, call?.data?.table.map((row) => createElement('li', { key: row }, row)))
 * }
 * ```
 */
export const useCall = <Data = unknown>(id: string, callId: string): UsedCall<Data> | undefined =>
  useAgentView('useCall', id, (view) =>
    view.chat.messages
      .flatMap((message) => (message.role === 'assistant' ? message.calls : []))
      .findLast((call) => call.callId === callId),
  ) as UsedCall<Data> | undefined

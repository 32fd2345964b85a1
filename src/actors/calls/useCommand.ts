import type { UseChange } from '../../protocol/bridge/turns.ts'
import { pricedModel, type PricedModel, type UseOptions } from '../turn/turnOptions.ts'

/**
 * The data of a command to use something, and the model that no data can hold. Malformed options are left for the command's schema.
 *
 * @throws RuntimeError `INVALID_DEFINITION`: it is no model.
 */
export function useCommand(
  options: UseOptions | null,
  label: string,
): { readonly use: UseChange | null; readonly model: PricedModel | undefined } {
  if (typeof options !== 'object' || options === null) return { use: options, model: undefined }
  const { tools, model, ...rest } = options
  const lent = typeof model === 'object' && model !== null ? pricedModel(model, label) : undefined
  const names = Array.isArray(tools) ? tools.map((tool) => (typeof tool === 'object' ? tool?.name : tool)) : tools
  const change = { ...rest, tools: names, model: lent === undefined ? model : lent.model.id }
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return { use: Object.fromEntries(given) as UseChange, model: lent }
}

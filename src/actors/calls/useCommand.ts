import type { UseChange } from '../../protocol/bridge/turns.ts'
import { pricedModel, type PricedModel, type UseOptions } from '../turn/turnOptions.ts'

/**
 * Returns the data of a `use` command, and the model, which data cannot hold. Malformed options are left for the command's schema.
 * @throws RuntimeError `INVALID_DEFINITION` if the model is invalid
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

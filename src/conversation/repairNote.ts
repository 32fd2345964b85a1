import { brakeMarkers } from './markers.ts'
import { neutralise } from './neutralise.ts'

/** What the model is shown after the trunk when its answer could not be used: by the runtime, not by a person. */
export const renderRepair = (text: string): string =>
  `<runtime-note kind="repair">${neutralise(text, brakeMarkers)}</runtime-note>`

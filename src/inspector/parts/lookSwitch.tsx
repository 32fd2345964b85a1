export interface LookSwitchProps<Look extends string> {
  /** What each look is called, in their order. */
  readonly looks: Readonly<Record<Look, string>>
  readonly chosen: Look
  readonly onChoose: (look: Look) => void
}

/** How a view is drawn: one of a few ways. */
export const LookSwitch = <Look extends string>({ looks, chosen, onChoose }: LookSwitchProps<Look>) => (
  <div class="chart-looks" role="group" aria-label="Shown">
    {(Object.keys(looks) as Look[]).map((look) => (
      <button key={look} type="button" class="button" aria-pressed={look === chosen} onClick={() => onChoose(look)}>
        {looks[look]}
      </button>
    ))}
  </div>
)

export interface LookSwitchProps<Look extends string> {
  /** Names of the looks, in their order. */
  readonly looks: Readonly<Record<Look, string>>
  readonly chosen: Look
  readonly onChoose: (look: Look) => void
}

/** A switch between the few forms in which a view can be drawn. */
export const LookSwitch = <Look extends string>({ looks, chosen, onChoose }: LookSwitchProps<Look>) => (
  <div class="chart-looks" role="group" aria-label="Shown">
    {(Object.keys(looks) as Look[]).map((look) => (
      <button key={look} type="button" class="button" aria-pressed={look === chosen} onClick={() => onChoose(look)}>
        {looks[look]}
      </button>
    ))}
  </div>
)

"""A topic of clicks into files every hour, up to the end of the hour. docs/scheduled.md says what the exit codes mean."""

from datetime import datetime, timedelta

from airflow import DAG
from airflow.providers.cncf.kubernetes.operators.pod import KubernetesPodOperator
from airflow.providers.standard.operators.bash import BashOperator

with DAG(
    "clicks",
    schedule="@hourly",
    start_date=datetime(2026, 7, 1),
    catchup=False,
    max_active_runs=1,
    default_args={"retries": 3, "retry_delay": timedelta(minutes=1)},
):
    # A worker that has the binary. The last line of standard output, the summary, is the value of the task.
    clicks = BashOperator(
        task_id="clicks",
        bash_command="urlmill run /srv/clicks/clicks.yaml --until '{{ data_interval_end.isoformat() }}' --summary json --log-format json",
    )

    # A pod, where workers do not have it. The ConfigMap is that of kubernetes.yaml.
    pod = KubernetesPodOperator(
        task_id="clicks_in_a_pod",
        image="urlmill:0.1.0",
        arguments=["run", "/etc/urlmill/config/pipeline.yaml", "--until", "{{ data_interval_end.isoformat() }}", "--log-format", "json"],
        termination_grace_period=60,
        on_finish_action="delete_succeeded_pod",
    )

# region: rights
# All that a drill needs, under a prefix of its own. The queues of your jobs are none of its business.
rabbitmqctl add_user surety_drill choose-one
rabbitmqctl set_permissions -p / surety_drill '^(drills[.-]|amq\.gen-)' '^(drills[.-]|amq\.gen-|amq\.default$)' '^(drills[.-]|amq\.gen-)'
# endregion
